/**
 * The termination message of kpack v0.17.2's completion container, which describes the built image. The encoding is specific
 * to the simulator.
 */
import { deflateSync, inflateSync } from "node:zlib";
import type { BuildpackMetadata } from "./kinds.ts";

/** The built image. */
export interface BuildMetadata {
  readonly latestImage: string;
  readonly stack: { readonly id: string; readonly runImage: string };
  readonly lifecycleVersion: string;
  readonly buildMetadata: BuildpackMetadata[];
}

/** Encodes it for a termination message, which is limited to 4096 bytes. */
export const encodeMetadata = (metadata: BuildMetadata): string =>
  deflateSync(JSON.stringify(metadata)).toString("base64");

/** Decodes the output of {@link encodeMetadata}. Throws on anything else, which kpack then retries forever. */
export const decodeMetadata = (message: string): BuildMetadata =>
  JSON.parse(inflateSync(Buffer.from(message, "base64")).toString());
