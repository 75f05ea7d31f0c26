/** The program. */
import { enableCompileCache } from "node:module";
import { watchOutput } from "./output.ts";

enableCompileCache();
watchOutput();
if (process.channel) {
  // The launcher for older Nodes holds the other end. When it is killed, this process is to end as well.
  process.channel.unref();
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
}

const { runCommandLine } = await import("./program.ts");
const exitCode = await runCommandLine(process.argv.slice(2));
if (exitCode !== undefined) process.exit(exitCode);
