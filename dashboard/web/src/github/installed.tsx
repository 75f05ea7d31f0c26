/** The screen to which GitHub sends the browser after an App was installed: the form for the Installation, filled in. */
import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { AppInstallation } from "../../../api/githubapp.ts";
import { useQuery } from "../api/query.ts";
import { Details } from "../ui/details.tsx";
import { valueAt } from "../ui/form/draft.ts";
import { forgetDraft, savedDraft } from "../ui/form/saveddraft.ts";
import { Head } from "../ui/head.tsx";
import { QueryResult } from "../ui/queryresult.tsx";
import { InstallationForm } from "./installationform.tsx";
import { paths } from "./paths.ts";
import { installedText as text } from "./text.ts";

export function GitHubAppInstalled() {
  const {
    params: { namespace = "", name = "" },
    query,
  } = useRoute();
  const { installation_id: id = "", setup_action: action } = query;
  const hasId = /^[1-9]\d{0,14}$/.test(id);
  const app = `/github/app/${namespace}/${name}`;
  const installation = useQuery<AppInstallation>(
    hasId ? `/api/github/apps/${namespace}/${name}/installations/${id}` : undefined,
  );
  return (
    <>
      <Head title={text.title} trail={[app, name]} />
      {hasId ? (
        <QueryResult
          result={installation}
          refused={({ message }) => (
            <div role="alert" class="notice bad">
              <p>{text.notConfirmed}</p>
              <Details message={message} />
              <a href={app}>{text.toApp}</a>
            </div>
          )}
        >
          {(found) => <Prefilled key={found.id} namespace={namespace} name={name} of={found} />}
        </QueryResult>
      ) : (
        <div role="status" class="notice busy">
          <p>{action === "request" ? text.requested : text.noInstallation}</p>
          <a href={app}>{text.toApp}</a>
        </div>
      )}
    </>
  );
}

function Prefilled({
  namespace,
  name,
  of: { id, account, url },
}: {
  namespace: string;
  name: string;
  of: AppInstallation;
}) {
  const [attempt, setAttempt] = useState(() => {
    // Unsaved input for another installation, which has the same address.
    if (valueAt(savedDraft()?.draft, paths.installationID) !== id) forgetDraft();
    return 0;
  });
  const spec = { appRef: { kind: "GitHubApp", name }, installationID: id };
  return (
    <div class="stack">
      <p>{text.about(name, account)}</p>
      <InstallationForm
        key={attempt}
        account={{ state: "held", url, owner: account }}
        initial={{ metadata: { namespace, name: nameFor(account) }, spec }}
        restart={() => setAttempt(attempt + 1)}
      />
    </div>
  );
}

/** Logins have capital letters, and those of some enterprises an underscore. */
const nameFor = (account: string): string => account.toLowerCase().replaceAll(/[^a-z0-9-]/g, "-");
