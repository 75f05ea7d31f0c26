/** The webhook for conversions and admission hooks, which only some projects need. */
import { z } from "zod";
import { manifestNamespace } from "../generate/files.ts";
import * as templated from "./manifesttemplates.ts";
import { at, type Fields } from "./manifesttemplates.ts";
import { mapStrings, type Source, type Sources } from "./sources.ts";
import { conditional, expression, templateText, when } from "./template.ts";

const [ca, hooks] = [".Values.admission.ca", ".Values.admission.hooks"];

/** The values of the webhook. */
export const admissionSchema = (workload: z.core.$ZodShape, hasHooks: boolean) =>
  z
    .strictObject({
      ...workload,
      ...(hasHooks && {
        ca: z
          .string()
          .regex(/^$|-----BEGIN CERTIFICATE-----/)
          .default("")
          .describe(
            "Certificates (PEM) that sign the certificate of the webhook. If empty, cert-manager adds those of the Certificate denrei-admission.",
          ),
        hooks: z
          .boolean()
          .default(true)
          .describe(
            "Make the API server call admission hooks. Set it to false for the release that adds hooks to a kind in use, until the rollout is complete.",
          ),
      }),
    })
    .prefault({})
    .describe("The webhook for conversions and admission hooks: docs/admission.md.");

/** Templates of the configurations that make the API server call the webhook. */
export const configurationTemplates = ({ hooked }: Pick<Sources, "hooked">): [string, string][] =>
  hooked.length === 0
    ? []
    : [["webhook-configurations.yaml", conditional(hooks, templateText(hooked.map(configuration)))]];

const injected = "cert-manager.io/inject-ca-from";
const namespace = ".Release.Namespace";

function configuration(source: Source): Source {
  // The namespace is among those that hooks exempt, too.
  const object = mapStrings(templated.inNamespace(source), (value, key) => {
    if (key === "values" && value === manifestNamespace) return templated.quoted(namespace);
    return key === injected ? value.replace(/^[^/]+/, expression(namespace)) : value;
  });
  const annotations = at(object, "metadata", "annotations");
  at(object, "metadata").annotations = when(`not ${ca}`, annotations);
  for (const webhook of Object.values(at(object, "webhooks")) as Fields[])
    at(webhook, "clientConfig").caBundle = when(ca, expression(`${ca} | b64enc`));
  return object;
}
