/** A status as a colored word. */
import type { KubeObject } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { healthOf, type Tone } from "./health.ts";

export { conditionsOf, healthOf, humanize, type Tone, tones } from "./health.ts";

/** A word with a shape and a color. */
export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`status ${tone}`}>{children}</span>;
}

/** The health of an object. */
export function Health({ of: object }: { of: KubeObject }) {
  const [tone, word] = healthOf(object);
  return <Status tone={tone}>{word}</Status>;
}
