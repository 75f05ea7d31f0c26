/** replay.test.ts at its full size. */
import "./replay.test.ts";
