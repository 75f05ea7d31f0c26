/**
 * What the completion container of kpack v0.17.2 says in its termination message: what was built. The encoding is the
 * stand-in's own.
 */
import { deflateSync, inflateSync } from "node:zlib";
import type { BuildpackMetadata } from "./kinds.ts";

/** What was built. */
export interface BuildMetadata {
  readonly latestImage: string;
  readonly stack: { readonly id: string; readonly runImage: string };
  readonly lifecycleVersion: string;
  readonly buildMetadata: BuildpackMetadata[];
}

/** As text of a termination message, which must not have more than 4096 bytes. */
export const encodeMetadata = (metadata: BuildMetadata): string =>
  deflateSync(JSON.stringify(metadata)).toString("base64");

/** Throws on what {@link encodeMetadata} has not made: kpack tries that again for ever. */
export const decodeMetadata = (message: string): BuildMetadata =>
  JSON.parse(inflateSync(Buffer.from(message, "base64")).toString());
