/** The names of grades: in a file of their own, because the API shows them and judges no pack. */

/**
 * Grades of a pack at a rate. `production`: the rate was measured on everybody and in each group of people. `ungrouped`: it was
 * measured, and nobody was asked in which groups. `evaluation`: it was not shown, overall or in a group.
 */
export const PACK_GRADES = ['production', 'ungrouped', 'evaluation'] as const
export type PackGrade = (typeof PACK_GRADES)[number]
