/** Texts of failed requests. */
export const text = {
  offline: "The dashboard does not respond. Check your network connection.",
  away: "The dashboard does not respond.",
  status: (status: number) => `The server responded with status ${status}.`,
  changed: "The object changed since you started editing. Start over from the current version.",
} as const;
