/** Writing together what happens together. */

let inTurn = false;
let nextTurn: Promise<void> | undefined;
/**
 * Makes all but the first one who asks in a turn of the event loop wait for the next, which they begin together: a lone
 * change is not kept waiting, and the rest of a burst is written at once.
 */
export function turn(): Promise<void> | undefined {
  if (inTurn) {
    nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        nextTurn = undefined;
        resolve();
      });
    });
    return nextTurn;
  }
  inTurn = true;
  setImmediate(() => {
    inTurn = false;
  });
  return undefined;
}
