import { Installation } from "@denrei/functions/ghapp/kinds";
import { useState } from "preact/hooks";
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
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { notify } from "../ui/notices.tsx";
import { Loading } from "../ui/states.tsx";
import { type Account, connectAddress, useAccount } from "./account.ts";
import { AppFields } from "./appfields.tsx";
import { ConnectionError } from "./connectionerror.tsx";
import { InstallationField } from "./installationfield.tsx";
import { paths } from "./paths.ts";
import { PermissionFields } from "./permissionfields.tsx";
import { RepositoriesField } from "./repositoriesfield.tsx";
import { installations } from "./resources.ts";
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
  const { status, reason, message } = error;
  throw new RequestError(status, reason, message, [{ field, message }]);
}

/** The screen that creates an Installation. */
export function NewInstallation() {
  const account = useAccount();
  const [attempt, setAttempt] = useState(0);
  return (
    <>
      <Head title="Create an Installation" trail={["/github", "GitHub"]} />
      {account.state === "loading" ? (
        <Loading />
      ) : account.state === "disconnected" ? (
        <section class="card" aria-labelledby="connect">
          <h2 id="connect">Connect GitHub first</h2>
          <ConnectionError />
          <p>
            You can create tokens only for installations and repositories that you can see on GitHub. To check
            this, the dashboard queries GitHub on your behalf, and GitHub asks for your consent.
          </p>
          <div class="actions">
            <a class="button primary" href={connectAddress("/github/new")}>
              Connect GitHub
            </a>
          </div>
        </section>
      ) : (
        <div class="stack">
          <ConnectionError />
          <AccountNotice account={account} />
          <InstallationForm key={attempt} account={account} restart={() => setAttempt(attempt + 1)} />
        </div>
      )}
    </>
  );
}

/** Which suggestions the fields have, and why not more. */
function AccountNotice({ account }: { account: Account }) {
  switch (account.state) {
    case "connected":
      return (
        <p class="quiet">
          Connected to GitHub as <strong>{account.login}</strong>.
        </p>
      );
    case "none":
      return (
        <div role="status" class="notice busy">
          <p>
            You cannot create Installations here: this dashboard cannot check which repositories you can see
            on GitHub. Its operator can set <code>DENREI_GITHUB_*</code>; until then, use kubectl.
          </p>
        </div>
      );
    case "away":
      return (
        <p role="status" class="notice busy">
          Installations and repositories cannot be suggested right now. {account.message}
        </p>
      );
    default:
      return null;
  }
}

function InstallationForm({ account, restart }: { account: Account; restart: () => void }) {
  const { route } = useLocation();
  const form = useForm({
    restart,
    initial: {
      metadata: { namespace: namespace.value || undefined },
      spec: specFor(account.state === "connected" ? account.url : "https://github.com"),
    },
    schema,
    fields: Object.values(paths),
    async send(draft) {
      const object = { apiVersion: apiVersionOf(installations), kind: installations.kind };
      const created = { ...object, ...(withTemplate(draft) as object) } as Installation;
      const { metadata } = await create(installations, created).catch(withField);
      notify("good", `Created Installation ${metadata.name}.`);
      route(`/github/${metadata.namespace}/${metadata.name}`);
    },
  });
  const format = form.value(paths.format) ?? "raw";
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <fieldset class="whole" disabled={account.state === "none"}>
        <Restored form={form} />
        <TextField form={form} path={paths.name} label="Name" hint="Also the name of the Secret." />
        <TextField form={form} path={paths.namespace} label="Target namespace" />
        <AppFields form={form} />
        <InstallationField form={form} account={account} />
        <RepositoriesField form={form} account={account} />
        <PermissionFields form={form} />
        <ChoiceField
          form={form}
          path={paths.format}
          label="Format"
          choices={[
            ["basic-auth", "basic-auth: username and password, for git"],
            ["dockerconfigjson", "dockerconfigjson: for pulling images"],
            ["raw", "raw: the token alone"],
          ]}
        />
        {format === "raw" && (
          <TextField
            form={form}
            path={paths.key}
            label="Key"
            hint="The key of the Secret that holds the token."
          />
        )}
        {format === "dockerconfigjson" && (
          <TextField form={form} path={paths.registry} label="Registry" placeholder="ghcr.io" />
        )}
        {format === "basic-auth" && (
          <TextField
            form={form}
            path={paths.gitHost}
            label="Git host"
            hint="The host from which kpack clones with this token. If empty, builds do not use the token."
          />
        )}
        <Send
          form={form}
          label="Create"
          needs={creating(installations, String(form.value(paths.namespace) ?? ""))}
        >
          <a class="button" href="/github" onClick={() => forgetDraft()}>
            Cancel
          </a>
        </Send>
      </fieldset>
    </form>
  );
}
