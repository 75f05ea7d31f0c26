/** Times as Kubernetes writes them. */

/** RFC 3339 in UTC without fractions of a second, like `metav1.Time`: `2026-01-02T03:04:05Z`. `at` is a date, or milliseconds since the epoch. */
export const timeText = (at: Date | number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
