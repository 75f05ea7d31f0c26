/** Texts about the events on the bus. */
export const eventsText = {
  title: "Events per second",
  about: (zone: string) => `The last 15 minutes, by kind. Times are in ${zone}.`,
  none: "No object of a watched kind has changed in the last 15 minutes.",
  chart: "Events per second of each kind over the last 15 minutes; the table below has the figures",
  kind: "Kind",
  now: "Now, per second",
  highest: "Highest",
  total: "In 15 minutes",
  others: "all others",
} as const;
