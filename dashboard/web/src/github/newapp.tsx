/** The screen that creates a GitHub App. */
import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import {
  type AppForm,
  type AppSettings,
  appOutcomes,
  newAppSchema,
  webhookUrlOf,
} from "../../../api/githubapp.ts";
import { creating, useMay } from "../api/access.ts";
import { useQuery } from "../api/query.ts";
import { request } from "../api/session.ts";
import { ChoiceField, Restored, Send, TextField } from "../ui/form/field.tsx";
import { type Form, useForm } from "../ui/form/form.ts";
import { forgetDraft } from "../ui/form/saveddraft.ts";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { QueryResult } from "../ui/queryresult.tsx";
import { AppPermissions } from "./apppermissions.tsx";
import { gitHubApps, secrets } from "./resources.ts";
import { listText, newAppText as text } from "./text.ts";
import { UnstoredCard } from "./unstored.tsx";

const paths = {
  url: ["url"],
  namespace: ["namespace"],
  name: ["name"],
  organization: ["organization"],
  gateway: ["gateway"],
} as const;

export function NewGitHubApp() {
  const settings = useQuery<AppSettings>("/api/github/apps");
  const [attempt, setAttempt] = useState(0);
  return (
    <>
      <Head title={text.title} trail={["/github", listText.title]} />
      <div class="stack">
        <OutcomeNotice />
        <QueryResult result={settings} refused={({ message }) => <p role="alert">{message}</p>}>
          {(known) =>
            known.unstored ? (
              <UnstoredCard of={known.unstored} reload={settings.reload} />
            ) : (
              <>
                <p>{text.about}</p>
                <p class="quiet">
                  {text.haveApp} <a href="/github/new">{text.useApp}</a>
                </p>
                <AppFormCard key={attempt} settings={known} restart={() => setAttempt(attempt + 1)} />
              </>
            )
          }
        </QueryResult>
      </div>
    </>
  );
}

/** Why an App was not stored, from the parameter with which the server redirects back. */
function OutcomeNotice() {
  const { outcome } = useRoute().query;
  const known = appOutcomes.find((one) => one === outcome);
  return known ? (
    <p role="alert" class="notice bad">
      {text.outcomes[known]}
    </p>
  ) : null;
}

function AppFormCard({ settings, restart }: { settings: AppSettings; restart: () => void }) {
  const { urls } = settings;
  const form = useForm({
    restart,
    initial: { url: urls[0], namespace: namespace.value || undefined },
    schema: newAppSchema,
    fields: Object.values(paths),
    async send(draft) {
      post(await request<AppForm>("/api/github/apps", { method: "POST", body: draft }));
    },
  });
  const target = String(form.value(paths.namespace) ?? "");
  const [ofSecrets, ofApps] = [creating(secrets, target), creating(gitHubApps, target)];
  const maySecrets = useMay(ofSecrets);
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <Restored form={form} />
      {urls.length > 1 && (
        <ChoiceField
          form={form}
          path={paths.url}
          label={text.github}
          choices={urls.map((url) => [url, url])}
        />
      )}
      <TextField form={form} path={paths.namespace} label={text.namespace} hint={text.namespaceHint} />
      <TextField form={form} path={paths.name} label={text.name} hint={text.nameHint} />
      <TextField
        form={form}
        path={paths.organization}
        label={text.organization}
        hint={text.organizationHint}
      />
      <GatewayField form={form} platformNamespace={settings.platformNamespace} />
      <AppPermissions hasWebhooks={Boolean(form.value(paths.gateway))} />
      <Send form={form} label={text.continue} needs={maySecrets ? ofApps : ofSecrets}>
        <a class="button" href="/github" onClick={() => forgetDraft()}>
          {text.cancel}
        </a>
      </Send>
    </form>
  );
}

/** Where webhooks go, and whether the user may give their secret to the gateways. */
function GatewayField({ form, platformNamespace }: { form: Form; platformNamespace: string }) {
  const value = (path: readonly string[]) => String(form.value(path) ?? "");
  const gateway = value(paths.gateway);
  const may = useMay({ verb: "patch", resource: secrets, namespace: platformNamespace });
  return (
    <>
      <TextField
        form={form}
        path={paths.gateway}
        label={text.gateway}
        placeholder={text.gatewayExample}
        hint={text.gatewayHint}
      />
      {gateway !== "" && (
        <p class="hint">
          {text.webhooksTo} <code>{webhookUrlOf(gateway, value(paths.namespace), value(paths.name))}</code>.{" "}
          {!may && text.secretKept}
        </p>
      )}
    </>
  );
}

/** Leaves for GitHub with the manifest, as GitHub expects it: in a form that the browser posts. */
function post({ action, manifest }: AppForm): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = action;
  const input = document.createElement("input");
  input.type = "hidden";
  input.name = "manifest";
  input.value = manifest;
  form.append(input);
  document.body.append(form);
  form.submit();
}
