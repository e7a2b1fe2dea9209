/** The product's mark and name. */
export function Brand() {
  return (
    <span class="brand">
      <img src={new URL('../mark.svg', import.meta.url).href} alt="" width="22" height="22" /> Countersign
    </span>
  )
}
