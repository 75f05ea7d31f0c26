/** Runs the program of this folder: PipeCD's own packages, in the version that go.mod pins, read configurations. */
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

/** A configuration file, which `v1` says to be that of an agent of PipeCD v1, or the address of a MongoDB. */
export type Question = { readonly text: string; readonly v1?: true } | { readonly mongodb: string };

/** How PipeCD reads it. */
export interface Reading {
  /** The reason why PipeCD does not start with it. */
  readonly problem?: string;
  /** The whole document as JSON, where it is one. */
  readonly read?: { readonly spec: unknown };
}

/** PipeCD's parsers. */
export interface Parser {
  /** One reading for each question, in their order. */
  read(questions: readonly Question[]): Promise<readonly Reading[]>;
}

/** Builds the program into a folder. It takes minutes when Go's caches are cold. Throws without Go. */
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
        throw new Error(`expected ${questions.length} readings, found ${lines.length}`);
      return lines.map((line) => JSON.parse(line) as Reading);
    },
  };
}
