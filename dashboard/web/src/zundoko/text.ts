/** Texts about Zundoko. */

/** The list of Hikawas. */
export const listText = {
  title: "Zundoko",
  create: "Create a Hikawa",
  none: "No Hikawas here yet",
  about:
    "A Hikawa says Zun or Doko, one object per word. It ends with Kiyoshi, once its last five words are Zun, Zun, Zun, Zun, and Doko.",
  createFirst: "Create the first one",
} as const;

/** Plural of the kind, for the search. */
export const kindsText = "Hikawas";

/** Labels of columns and facts. */
export const factText = {
  title: "Facts",
  song: "Song",
  namespace: "Namespace",
  words: "Words",
  pause: "Pause",
  pauseOf: (millis: number) => `${millis} ms`,
  pauseBetween: (millis: number) => `${millis} ms between two words`,
  singers: "Singers",
  wordsOf: (words: number) => `${words} ${words === 1 ? "word" : "words"}`,
  unknownSinger: "unknown",
  created: "Created",
} as const;

/** The form. */
export const formText = {
  title: listText.create,
  nameExample: "song",
  pause: "Pause",
  pauseHint: "The time between two words, in milliseconds.",
} as const;

/** The screen of a Hikawa. */
export const songText = {
  consequence: "The song ends, and all its words are deleted.",
  title: "Song",
  readAloud: "Read aloud",
  cannotSpeak: "(not supported by this browser)",
  earlier: (words: number) => `${words} earlier ${words === 1 ? "word" : "words"}`,
  words: "Words",
  none: "No words yet. New words appear here.",
} as const;
