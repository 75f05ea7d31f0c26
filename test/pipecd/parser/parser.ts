/** Runs the Go program in this folder, which reads configurations with PipeCD's own packages in the version of go.mod. */
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

/** A configuration file, of a v1 piped if `v1` is set, or a MongoDB URL. */
export type Question = { readonly text: string; readonly v1?: true } | { readonly mongodb: string };

/** PipeCD's result. */
export interface Reading {
  /** The error with which PipeCD does not start. */
  readonly problem?: string;
  /** The complete document as JSON, if there is one. */
  readonly read?: { readonly spec: unknown };
}

/** PipeCD's parsers. */
export interface Parser {
  /** Returns one reading per question, in the same order. */
  read(questions: readonly Question[]): Promise<readonly Reading[]>;
}

/** Builds the program into a folder. Takes minutes if Go's caches are empty. Throws if Go is missing. */
export async function buildParser(folder: string): Promise<Parser> {
  const program = join(folder, "pipecd-parser");
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  await promisify(execFile)("go", ["build", "-o", program, "."], { cwd: import.meta.dirname, env });
  return {
    async read(questions) {
      const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
      child.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
      const lines = (await text(child.stdout)).split("\n").filter((line) => line !== "");
      if (lines.length !== questions.length)
        throw new Error(`got ${lines.length} readings for ${questions.length} questions`);
      return lines.map((line) => JSON.parse(line) as Reading);
    },
  };
}
