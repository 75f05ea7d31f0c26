/** A process of a run: see {@link runFunctions} for its arguments. */
import { runFunctions } from "./runfunctions.ts";

await runFunctions(process.argv.slice(2));
