/** The YAML of an object. In its own chunk, because it needs a YAML library. */
import type { KubeObject } from "denrei/kinds";
import { useMemo } from "preact/hooks";
import { useCopy } from "../copy.ts";
import { copyText } from "../text.ts";
import { text } from "./text.ts";
import { partsOf, yamlOf } from "./yaml.ts";

/** The text, and a button that copies it. */
export function YamlView({ of: object }: { of: KubeObject }) {
  const yaml = useMemo(() => yamlOf(object), [object]);
  const parts = useMemo(() => partsOf(yaml), [yaml]);
  const [state, element, copy] = useCopy<HTMLPreElement>();
  const label = { idle: text.copy, copied: copyText.copied, selected: copyText.selected }[state];
  return (
    <div class="stack">
      <div class="row">
        <button type="button" onClick={() => copy(yaml)}>
          {label}
        </button>
        <span class="unseen" role="status">
          {state === "idle" ? "" : label}
        </span>
        <span class="quiet small">{text.readOnly}</span>
      </div>
      <pre class="yaml" ref={element}>
        {parts.map(({ text: part, isKey }) => (isKey ? <strong>{part}</strong> : part))}
      </pre>
    </div>
  );
}
