/** Parsing of image tags like go-containerregistry's `name.NewTag` with weak validation, which kpack v0.17.2 uses. */

/** A parsed tag, with Docker Hub's defaults filled in. */
export interface Tag {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

const dockerHub = "index.docker.io";

/** Parses a tag; undefined if it is invalid. */
export function parseTag(text: string): Tag | undefined {
  const colon = text.lastIndexOf(":");
  const hasTag = colon > 0 && !text.slice(colon).includes("/");
  const [base, tag] = hasTag ? [text.slice(0, colon), text.slice(colon + 1)] : [text, "latest"];
  const slash = base.indexOf("/");
  const first = base.slice(0, Math.max(slash, 0));
  const [host, path] = /[.:]/.test(first) ? [first, base.slice(slash + 1)] : [dockerHub, base];
  if (!/^[\w.-]{1,128}$/.test(tag) || !/^[a-z0-9_\-./]{2,255}$/.test(path)) return undefined;
  const repository = host === dockerHub && !path.includes("/") ? `library/${path}` : path;
  return { registry: host, repository, tag };
}

/** `registry/repository`, the prefix of a digest reference. Throws on an invalid tag, which the webhook rejects. */
export function repositoryOf(text: string): string {
  const parsed = parseTag(text);
  if (parsed === undefined) throw new TypeError(`invalid image tag "${text}"`);
  return `${parsed.registry}/${parsed.repository}`;
}
