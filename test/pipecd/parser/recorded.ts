/** The record of how PipeCD v0.57.0 reads values. */
import { readFileSync } from "node:fs";
import type { FieldName } from "./fields.ts";

/** File of the record. */
export const recordedFile = new URL("./recorded.json", import.meta.url);

/** PipeCD's start error by field and value; empty if it starts. */
export const recorded = (): Readonly<Record<FieldName, Readonly<Record<string, string>>>> =>
  JSON.parse(readFileSync(recordedFile, "utf8"));
