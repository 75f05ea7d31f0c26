/** Syntax of image references: https://github.com/distribution/reference/blob/v0.6.0/regexp.go */
import { cel, z } from "denrei/kinds";

const label = "[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?";
const registry = `(${label}(\\.${label})*|\\[[a-fA-F0-9:]+\\])(:[0-9]+)?`;
const part = "[a-z0-9]+((\\.|__?|-+)[a-z0-9]+)*";
const repository = `(${registry}/)?${part}(/${part})*`;
const tag = "[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}";
const digest = "[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const reference = `${repository}(:${tag})?(@${digest})?`;

/** A string that matches a pattern. For a mismatch, both zod and the API server give the sentence. */
const matching = (pattern: string, longest: number, sentence: string) =>
  z
    .string()
    .max(longest)
    .regex(new RegExp(pattern), sentence)
    .meta(cel({ rule: `self.matches(${JSON.stringify(pattern)})`, message: sentence }));

const referenceProblem =
  "Enter an image such as registry.example.com/team/web:1.0. The repository is in lowercase, and there are no spaces.";
/** Longer than any repository (255) with a tag (128) and a digest of SHA-512 (135). */
const longestReference = 1024;

/** An image with an optional tag and digest. */
export const imageReference = matching(`^${reference}$`, longestReference, referenceProblem);

/** An {@link imageReference}, or an empty string. */
export const optionalImageReference = matching(`^(${reference})?$`, longestReference, referenceProblem);

/** A repository of a registry, without tag and digest. */
export const imageRepository = matching(
  `^${repository}$`,
  255,
  "Enter a repository in lowercase, without a tag, such as registry.example.com/acme/web.",
);
