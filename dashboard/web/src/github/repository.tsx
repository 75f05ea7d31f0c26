/** Which repository something is about, and the token to read it with. */
import { useLocation } from "preact-iso";
import type { Path } from "../ui/form/draft.ts";
import { TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { useListed } from "../ui/form/listed.ts";
import { connectAddress, useAccount, useRepositories } from "./account.ts";
import { Outcome } from "./outcome.tsx";
import { installations } from "./resources.ts";

/** Owner and name. What GitHub shows somebody whose account is connected is offered, and any can be typed. */
export function RepositoryFields({ form, at }: { form: Form; at: Path }) {
  const account = useAccount();
  const { url } = useLocation();
  const owner = String(form.value([...at, "owner"]) ?? "").toLowerCase();
  const shown = account.state === "connected" ? account.installations : [];
  const repositories = useRepositories(shown.find((one) => one.account.toLowerCase() === owner)?.id);
  return (
    <>
      {account.state === "apart" && <Outcome />}
      <TextField
        form={form}
        path={[...at, "owner"]}
        label="Owner of the repository"
        placeholder="acme"
        hint={
          account.state === "apart" ? (
            <>
              <a href={connectAddress(url)}>Connect GitHub</a> first, and you are offered what it shows you.
            </>
          ) : (
            account.state === "away" && account.message
          )
        }
        suggestions={shown.map((one) => one.account)}
      />
      <TextField
        form={form}
        path={[...at, "repo"]}
        label="Repository"
        placeholder="web"
        hint={`Its name, without the owner. ${typeof repositories === "string" ? repositories : ""}`}
        suggestions={Array.isArray(repositories) ? repositories.map(({ name }) => name) : []}
      />
    </>
  );
}

/** The Secret with the token: those of Installations in the namespace are offered. */
export function TokenSecretField({ form, at, namespace }: { form: Form; at: Path; namespace: string }) {
  const found = useListed(installations, namespace);
  return (
    <TextField
      form={form}
      path={[...at, "secretName"]}
      label="Secret with the token of GitHub"
      hint="As an Installation with the format basic-auth keeps it, annotated with kpack.io/git."
      suggestions={found
        .filter(({ spec }) => spec.format === "basic-auth")
        .map(({ metadata, status }) => status?.secret ?? metadata.name)}
    />
  );
}
