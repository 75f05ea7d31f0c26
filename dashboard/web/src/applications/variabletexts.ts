/** Values of settings as text. Values from Secrets appear only as references. */
import type { Application } from "@denrei/functions/paas/kinds";
import { text as shared } from "../ui/differences/text.ts";
import { driftText as text } from "./text.ts";

type Variable = NonNullable<Application["spec"]["env"]>[number];
type Source = NonNullable<Application["spec"]["envFrom"]>[number];

/** The value of a variable, or where it comes from. */
export function valueText(variable: Variable | undefined): string {
  if (variable === undefined) return shared.notSet;
  const { value = "", valueFrom } = variable;
  if (valueFrom === undefined) return value === "" ? text.empty : value;
  const { secretKeyRef, configMapKeyRef } = valueFrom;
  if (secretKeyRef) return text.keyOf("Secret", secretKeyRef.name, secretKeyRef.key);
  if (configMapKeyRef) return text.keyOf("ConfigMap", configMapKeyRef.name, configMapKeyRef.key);
  return JSON.stringify(valueFrom);
}

/** The sources of variables. */
export function sourcesText(sources: readonly Source[] | undefined): string {
  if (!sources?.length) return shared.notSet;
  return sources
    .map(({ secretRef, configMapRef, prefix }) => {
      const name = secretRef ? text.secret(secretRef.name) : text.configMap(configMapRef?.name ?? "");
      return prefix ? text.withPrefix(name, prefix) : name;
    })
    .join(text.and);
}

/** A list of arguments, unambiguous. */
export const listText = (words: readonly string[] | undefined): string =>
  words?.length
    ? words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word))).join(" ")
    : shared.notSet;
