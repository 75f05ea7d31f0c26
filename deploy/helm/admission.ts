/** The webhook for conversions and admission hooks, which only some projects need. */
import { z } from "zod";
import { manifestNamespace } from "../generate/files.ts";
import * as templated from "./manifesttemplates.ts";
import { at, type Fields } from "./manifesttemplates.ts";
import { mapStrings, type Source, type Sources } from "./sources.ts";
import { conditional, either, expression, templateText, when } from "./template.ts";

const [ca, hooks] = [".Values.admission.ca", ".Values.admission.hooks"];

/** The values of the webhook. */
export const admissionSchema = (workload: z.core.$ZodShape, hasHooks: boolean) =>
  z
    .strictObject({
      ...workload,
      ca: z
        .string()
        .regex(/^$|-----BEGIN CERTIFICATE-----/)
        .default("")
        .describe(
          "Certificates (PEM) that sign the certificate of the webhook. If empty, cert-manager adds those of the Certificate denrei-admission.",
        ),
      ...(hasHooks && {
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

const configuration = (source: Source): Source =>
  withReleasesWebhook(source, (object) => Object.values(at(object, "webhooks")) as Fields[]);

/**
 * The object with the webhook in the namespace of the release, and with the CA of cert-manager or of the values. `callers` finds the
 * parts with a `clientConfig`.
 */
export function withReleasesWebhook(source: Source, callers: (object: Source) => readonly Fields[]): Source {
  // The namespace is among those that hooks exempt, too.
  const object = mapStrings(templated.inNamespace(source), (value, key) => {
    if (key === "values" && value === manifestNamespace) return templated.quoted(namespace);
    return key === injected ? value.replace(/^[^/]+/, expression(namespace)) : value;
  });
  const metadata = at(object, "metadata");
  const { [injected]: from, ...own } = at(metadata, "annotations");
  const all = { ...own, [injected]: from };
  metadata.annotations = Object.keys(own).length === 0 ? when(`not ${ca}`, all) : either(ca, own, all);
  for (const caller of callers(object))
    at(caller, "clientConfig").caBundle = when(ca, expression(`${ca} | b64enc`));
  return object;
}
