/** The form for a new Installation. */
import { Installation } from "@denrei/functions/ghapp/kinds";
import { useLocation } from "preact-iso";
import { z } from "zod";
import { creating } from "../api/access.ts";
import { create } from "../api/objects.ts";
import { apiVersionOf } from "../api/resource.ts";
import { RequestError } from "../api/session.ts";
import { pathText } from "../ui/form/draft.ts";
import { ChoiceField, Restored, Send, TextField } from "../ui/form/field.tsx";
import { useForm } from "../ui/form/form.ts";
import { newMetadata } from "../ui/form/metadata.ts";
import { forgetDraft } from "../ui/form/saveddraft.ts";
import { namespace } from "../ui/namespace.tsx";
import { notify } from "../ui/notices.tsx";
import type { Account } from "./account.ts";
import { AppFields } from "./appfields.tsx";
import { InstallationField } from "./installationfield.tsx";
import { paths } from "./paths.ts";
import { PermissionFields } from "./permissionfields.tsx";
import { RepositoriesField } from "./repositoriesfield.tsx";
import { installations } from "./resources.ts";
import { formText as text } from "./text.ts";
import "./form.css";

/** The API server requires a template, even an empty one. */
const withTemplate = (draft: unknown): unknown => {
  const { spec, ...rest } = draft as { readonly spec?: object };
  return { ...rest, spec: { template: {}, ...spec } };
};
const schema = z.preprocess(
  withTemplate,
  z.object({ metadata: newMetadata(253), spec: Installation.definition?.spec ?? z.object() }),
);

/** The minimum for builds: a token for git with read access. */
const specFor = (gitHost: string): object => ({
  appRef: { kind: "ClusterGitHubApp" },
  format: "basic-auth",
  permissions: { contents: "read" },
  template: { metadata: { annotations: { "kpack.io/git": gitHost } } },
});

/** Fields by the reason with which the dashboard refuses them. */
const fieldsByReason: Readonly<Record<string, string>> = {
  NotYourInstallation: pathText(paths.installationID),
  NotYourRepository: pathText(paths.repositories),
  ReadOnlyRepository: pathText(paths.repositories),
  AllRepositories: pathText(paths.repositories),
};

/** Rethrows the error with the field that it is about. */
function withField(error: unknown): never {
  const field = error instanceof RequestError && fieldsByReason[error.reason];
  if (!field) throw error;
  const { status, reason, message, isSentence } = error;
  throw new RequestError(status, reason, message, { isSentence, fields: [{ field, message, isSentence }] });
}

/** The form. `initial` replaces initial values. */
export function InstallationForm({
  account,
  initial: { metadata, spec } = {},
  restart,
}: {
  account: Account;
  initial?: { readonly metadata?: object; readonly spec?: object };
  restart: () => void;
}) {
  const { route } = useLocation();
  const form = useForm({
    restart,
    initial: {
      metadata: metadata ?? { namespace: namespace.value || undefined },
      spec: { ...specFor("url" in account ? account.url : "https://github.com"), ...spec },
    },
    schema,
    fields: Object.values(paths),
    async send(draft) {
      const object = { apiVersion: apiVersionOf(installations), kind: installations.kind };
      const created = { ...object, ...(withTemplate(draft) as object) } as Installation;
      const { metadata } = await create(installations, created).catch(withField);
      notify("good", text.created(metadata.name));
      route(`/github/${metadata.namespace}/${metadata.name}`);
    },
  });
  const format = form.value(paths.format) ?? "raw";
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <fieldset class="whole" disabled={account.state === "none"}>
        <Restored form={form} />
        <TextField form={form} path={paths.name} label={text.name} hint={text.nameHint} />
        <TextField form={form} path={paths.namespace} label={text.namespace} />
        <AppFields form={form} />
        <InstallationField form={form} account={account} />
        <RepositoriesField form={form} account={account} />
        <PermissionFields form={form} />
        <ChoiceField
          form={form}
          path={paths.format}
          label={text.format}
          choices={Object.entries(text.formats)}
        />
        {format === "raw" && <TextField form={form} path={paths.key} label={text.key} hint={text.keyHint} />}
        {format === "dockerconfigjson" && (
          <TextField
            form={form}
            path={paths.registry}
            label={text.registry}
            placeholder={text.registryExample}
          />
        )}
        {format === "basic-auth" && (
          <TextField form={form} path={paths.gitHost} label={text.gitHost} hint={text.gitHostHint} />
        )}
        <Send
          form={form}
          label={text.create}
          needs={creating(installations, String(form.value(paths.namespace) ?? ""))}
        >
          <a class="button" href="/github" onClick={() => forgetDraft()}>
            {text.cancel}
          </a>
        </Send>
      </fieldset>
    </form>
  );
}
