/** Texts of all forms. */
export const formText = {
  restored: "Your unsaved input was restored.",
  discard: "Discard it",
  changed: "The object changed since you started editing.",
  startOver: "Start over from the current version",
  replaced:
    "The object was deleted and created again. Your unsaved input was for the former one and was discarded.",
  created: (name: string) => `Created ${name}.`,
  saved: (name: string) => `Saved ${name}.`,
  noChanges: "No changes to save.",
};
