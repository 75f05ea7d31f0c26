/** Entry point. */
import "../nodeversion.ts";
import { enableCompileCache } from "node:module";
import { watchOutput } from "./output.ts";

enableCompileCache();
watchOutput();
if (process.channel) {
  // The launcher for older Node versions holds the other end: stop when it is killed.
  process.channel.unref();
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
}

const { runCommandLine } = await import("./program.ts");
const exitCode = await runCommandLine(process.argv.slice(2));
if (exitCode !== undefined) process.exit(exitCode);
