/** Turns of the event loop. */

/**
 * Waits for the end of the present turn; all who wait in it go on together. What they then write to one socket leaves in
 * one call of the system, and a write per message is what a busy gateway and its server otherwise spend most time with.
 */
export function endOfTurn(): () => Promise<void> {
  let end: Promise<void> | undefined;
  return () => {
    end ??= new Promise((resolve) => {
      setImmediate(() => {
        end = undefined;
        resolve();
      });
    });
    return end;
  };
}
