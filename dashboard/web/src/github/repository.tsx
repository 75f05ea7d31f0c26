/** The fields for a repository and for the token that reads it. */
import { useLocation } from "preact-iso";
import type { Path } from "../ui/form/draft.ts";
import { TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { useSuggestedObjects } from "../ui/form/suggestions.ts";
import { connectAddress, useAccount, useRepositories } from "./account.ts";
import { ConnectionError } from "./connectionerror.tsx";
import { installations } from "./resources.ts";
import { connectionText, repositoryText as text } from "./text.ts";

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
        label={text.owner}
        placeholder={text.ownerExample}
        hint={
          account.state === "disconnected" ? (
            <>
              <a href={connectAddress(url)}>{connectionText.connect}</a>
              {connectionText.toGetSuggestions}
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
        label={text.repository}
        placeholder={text.repositoryExample}
        hint={`${text.repositoryHint} ${typeof repositories === "string" ? repositories : ""}`}
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
      label={text.secret}
      hint={text.secretHint}
      suggestions={found
        .filter(({ spec }) => spec.format === "basic-auth")
        .map(({ metadata, status }) => status?.secret ?? metadata.name)}
    />
  );
}
