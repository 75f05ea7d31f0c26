/** Renders YAML configuration files so that PipeCD's parsers read every string as a string. */
import { type ScalarTag, stringify } from "yaml";

/** Strings that need no quotes in any position. */
const plain = /^(?:[A-Za-z]|\/(?=.))(?:[A-Za-z0-9_./@()-]|:(?=[^ ]))*$/;
const words = /^(?:y|yes|n|no|on|off|true|false|null|nan|inf)$/i;

/** Quotes strings with JSON escapes, also for characters that are not printable. */
const text: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string",
  resolve: (value) => value,
  stringify: ({ value }) => quotedUnlessPlain(String(value)),
};

function quotedUnlessPlain(value: string): string {
  if (plain.test(value) && !words.test(value)) return value;
  return JSON.stringify(value).replaceAll(
    /[\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff]/g,
    escaped,
  );
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const mergeTag = "tag:yaml.org,2002:merge";

/** The content of a configuration file. */
export const documentOf = (kind: "ControlPlane" | "Piped", spec: object): string =>
  stringify(
    { apiVersion: "pipecd.dev/v1beta1", kind, spec },
    {
      version: "1.1",
      lineWidth: 0,
      aliasDuplicateObjects: false,
      customTags: (tags) => [text, ...tags.filter((tag) => typeof tag === "string" || tag.tag !== mergeTag)],
    },
  );
