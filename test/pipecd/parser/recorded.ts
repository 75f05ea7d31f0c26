/** How PipeCD v0.57.0 reads the values of the record. */
import { readFileSync } from "node:fs";
import type { FieldName } from "./fields.ts";

/** The file with the record. */
export const recordedFile = new URL("./recorded.json", import.meta.url);

/** By field and value: the reason why PipeCD does not start, empty where it does. */
export const recorded = (): Readonly<Record<FieldName, Readonly<Record<string, string>>>> =>
  JSON.parse(readFileSync(recordedFile, "utf8"));
