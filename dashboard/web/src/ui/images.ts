/** Image references. Pure. */

/** Digits of an abbreviated digest: enough to tell images apart, as with docker and crane. */
const digits = 12;

/** A message with abbreviated digests, and with commits as on GitHub. */
export const shortMessage = (message: string): string =>
  message.replace(/\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g, (hex) =>
    hex.length === 40 ? hex.slice(0, 7) : `${hex.slice(0, digits)}…`,
  );

/** An image with an abbreviated digest: `registry/web:1@sha256:1234567890ab…`. */
export const shortImage = (image: string): string =>
  image.replace(new RegExp(`(@[a-z0-9+._-]+:[0-9a-f]{${digits}})[0-9a-f]+$`), "$1…");
