/** The plurals of kinds, by which the API server names their resources. */

/** The default plural of a kind, formed as those of Kubernetes' own kinds: `policies`, `ingresses`, `pods`. */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
