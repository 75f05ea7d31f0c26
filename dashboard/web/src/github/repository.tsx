/** The fields for a repository and for the token that reads it. */
import { useLocation } from "preact-iso";
import type { Path } from "../ui/form/draft.ts";
import { TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { useSuggestedObjects } from "../ui/form/suggestions.ts";
import { connectAddress, useAccount, useRepositories } from "./account.ts";
import { ConnectionError } from "./connectionerror.tsx";
import { installations } from "./resources.ts";

/** Owner and name. Suggests what GitHub shows to a connected user; any name can be typed. */
export function RepositoryFields({ form, at }: { form: Form; at: Path }) {
  const account = useAccount();
  const { url } = useLocation();
  const owner = String(form.value([...at, "owner"]) ?? "").toLowerCase();
  const shown = account.state === "connected" ? account.installations : [];
  const repositories = useRepositories(shown.find((one) => one.account.toLowerCase() === owner)?.id);
  return (
    <>
      {account.state === "disconnected" && <ConnectionError />}
      <TextField
        form={form}
        path={[...at, "owner"]}
        label="Repository owner"
        placeholder="acme"
        hint={
          account.state === "disconnected" ? (
            <>
              <a href={connectAddress(url)}>Connect GitHub</a> to get suggestions.
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
        hint={`The name without the owner. ${typeof repositories === "string" ? repositories : ""}`}
        suggestions={Array.isArray(repositories) ? repositories.map(({ name }) => name) : []}
      />
    </>
  );
}

/** The Secret with the token. Suggests the Secrets of Installations in the namespace. */
export function TokenSecretField({ form, at, namespace }: { form: Form; at: Path; namespace: string }) {
  const found = useSuggestedObjects(installations, namespace);
  return (
    <TextField
      form={form}
      path={[...at, "secretName"]}
      label="GitHub token Secret"
      hint="The Secret of an Installation with the format basic-auth, annotated with kpack.io/git."
      suggestions={found
        .filter(({ spec }) => spec.format === "basic-auth")
        .map(({ metadata, status }) => status?.secret ?? metadata.name)}
    />
  );
}
