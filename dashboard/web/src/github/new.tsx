/** A new Installation. */
import { useLocation } from "preact-iso";
import { z } from "zod";
import { Installation } from "../../../../functions/ghapp/kinds.ts";
import { create } from "../api/objects.ts";
import { apiVersionOf } from "../api/resource.ts";
import { RequestError } from "../api/session.ts";
import { pathText } from "../ui/form/draft.ts";
import { ChoiceField, Send, TextField } from "../ui/form/field.tsx";
import { useForm } from "../ui/form/form.ts";
import { newObject } from "../ui/form/newobject.ts";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { notify } from "../ui/notices.tsx";
import { Loading } from "../ui/states.tsx";
import { type Account, connectAddress, useAccount } from "./account.ts";
import { AppFields } from "./appfields.tsx";
import { InstallationField } from "./installationfield.tsx";
import { Outcome } from "./outcome.tsx";
import { paths } from "./paths.ts";
import { PermissionFields } from "./permissionfields.tsx";
import { RepositoriesField } from "./repositoriesfield.tsx";
import { installations } from "./resources.ts";
import "./form.css";

/** A Secret that nothing else is wanted of has a template all the same. */
const withTemplate = (draft: unknown): unknown => {
  const { spec, ...rest } = draft as { readonly spec?: object };
  return { ...rest, spec: { template: {}, ...spec } };
};
const schema = z.preprocess(withTemplate, newObject(Installation, 253));

/** The least that builds need: a token for git that can read. */
const specFor = (gitHost: string): object => ({
  appRef: { kind: "ClusterGitHubApp" },
  format: "basic-auth",
  permissions: { contents: "read" },
  template: { metadata: { annotations: { "kpack.io/git": gitHost } } },
});

/** The field that a refusal of the dashboard's own is about, by its reason. */
const refusedFields: Readonly<Record<string, string>> = {
  NotYourInstallation: pathText(paths.installationID),
  NotYourRepository: pathText(paths.repositories),
  ReadOnlyRepository: pathText(paths.repositories),
  AllRepositories: pathText(paths.repositories),
};

/** Throws the error again, with the field that it is about. */
function named(error: unknown): never {
  const field = error instanceof RequestError && refusedFields[error.reason];
  if (!field) throw error;
  const { status, reason, message } = error;
  throw new RequestError(status, reason, message, [{ field, message }]);
}

/** The screen. */
export function NewInstallation() {
  const account = useAccount();
  return (
    <>
      <Head title="Create an Installation" trail={["/github", "GitHub"]} />
      {account.state === "loading" ? (
        <Loading />
      ) : account.state === "apart" ? (
        <section class="card" aria-labelledby="connect">
          <h2 id="connect">Connect GitHub first</h2>
          <Outcome />
          <p>
            A token is made only for installations and repositories that GitHub shows you. So the dashboard
            has to ask GitHub in your name, and you are asked whether it may.
          </p>
          <div class="actions">
            <a class="button primary" href={connectAddress("/github/new")}>
              Connect GitHub
            </a>
          </div>
        </section>
      ) : (
        <div class="stack">
          <Outcome />
          <Known account={account} />
          <InstallationForm account={account} />
        </div>
      )}
    </>
  );
}

/** What the fields can offer, and why not more. */
function Known({ account }: { account: Account }) {
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
            Installations can not be created here: whoever makes one has its token, and this dashboard can not
            ask GitHub whether you see what it is for. Whoever runs the dashboard can set{" "}
            <code>DENREI_GITHUB_*</code>; until then it takes kubectl.
          </p>
        </div>
      );
    case "away":
      return (
        <p role="status" class="notice busy">
          Installations and repositories can not be offered at the moment. {account.message}
        </p>
      );
    default:
      return null;
  }
}

function InstallationForm({ account }: { account: Account }) {
  const { route } = useLocation();
  const form = useForm({
    initial: {
      metadata: { namespace: namespace.value || undefined },
      spec: specFor(account.state === "connected" ? account.url : "https://github.com"),
    },
    schema,
    fields: Object.values(paths),
    async send(draft) {
      const object = { apiVersion: apiVersionOf(installations), kind: installations.kind };
      const created = { ...object, ...(withTemplate(draft) as object) } as Installation;
      const { metadata } = await create(installations, created).catch(named);
      notify("good", `Installation ${metadata.name} was created`);
      route(`/github/${metadata.namespace}/${metadata.name}`);
    },
  });
  const format = form.value(paths.format) ?? "raw";
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <fieldset class="whole" disabled={account.state === "none"}>
        <TextField form={form} path={paths.name} label="Name" hint="The Secret has the same name." />
        <TextField form={form} path={paths.namespace} label="Namespace of the Installation" />
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
            hint="Which key of the Secret gets the token."
          />
        )}
        {format === "dockerconfigjson" && (
          <TextField form={form} path={paths.registry} label="Registry" placeholder="ghcr.io" />
        )}
        {format === "basic-auth" && (
          <TextField
            form={form}
            path={paths.gitHost}
            label="Used by builds for"
            hint="Where kpack clones from with it. Empty: builds do not use it."
          />
        )}
        <Send form={form} label="Create">
          <a class="button" href="/github">
            Cancel
          </a>
        </Send>
      </fieldset>
    </form>
  );
}
