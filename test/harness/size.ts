/** Test sizes: as small as the fault allows when a change is checked, and full size at night. */

/** The variable that the nightly tests set to `full`. */
export const sizeVariable = "DENREI_TEST_SIZE";

/** One of two sizes: `least` still lets the test fail when the behavior is broken; `full` is for the nightly run. */
export const sized = (least: number, full: number): number =>
  process.env[sizeVariable] === "full" ? full : least;
