/** Waits, and resolves to whether the full time has passed. An abort ends the wait early. */
export const waited = (millis: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const done = (whole: boolean) => () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", ended);
      resolve(whole);
    };
    const ended = done(false);
    const timer = setTimeout(done(true), millis);
    signal.addEventListener("abort", ended);
    if (signal.aborted) ended();
  });
