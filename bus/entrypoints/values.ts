/**
 * `denrei/values`: pure helpers that run in a browser as well.
 *
 * @packageDocumentation
 */
export { canonicalJson, isSameJson } from "../values/canonicaljson.ts";
export { minutes } from "../values/durations.ts";
export { matchesGlob } from "../values/glob.ts";
export { didYouMean } from "../values/nearest.ts";
export { ownValue } from "../values/ownvalue.ts";
