/** Values that an application hands to the SDK: photos and actions. */

/** A JPEG, PNG or WebP file: its bytes, or base64 with or without a `data:` prefix. */
export type ImageInput = Blob | ArrayBuffer | Uint8Array | string

/** The action to be countersigned: at most 4096 bytes in RFC 8785 canonical form. */
export type Action = string | { [name: string]: unknown }

/** An action of the application's own type: an interface has no index signature, so `Action` would not take it. */
export type ActionLike = string | object
