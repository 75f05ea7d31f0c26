/** The screen that creates an Installation. */
import { useState } from "preact/hooks";
import { Head } from "../ui/head.tsx";
import { Loading } from "../ui/states.tsx";
import { type Account, connectAddress, useAccount } from "./account.ts";
import { ConnectionError } from "./connectionerror.tsx";
import { InstallationForm } from "./installationform.tsx";
import { formText, listText, connectionText as text } from "./text.ts";

export function NewInstallation() {
  const account = useAccount();
  const [attempt, setAttempt] = useState(0);
  return (
    <>
      <Head title={formText.title} trail={["/github", listText.title]} />
      <p class="quiet">
        {formText.noApp} <a href="/github/new-app">{formText.createApp}</a>
      </p>
      {account.state === "loading" ? (
        <Loading />
      ) : account.state === "disconnected" ? (
        <section class="card" aria-labelledby="connect">
          <h2 id="connect">{text.title}</h2>
          <ConnectionError />
          <p>{text.why}</p>
          <div class="actions">
            <a class="button primary" href={connectAddress("/github/new")}>
              {text.connect}
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
          {text.connectedAs} <strong>{account.login}</strong>.
        </p>
      );
    case "none":
      return (
        <div role="status" class="notice busy">
          <p>
            {text.none} <code>DENREI_GITHUB_*</code>. {text.noneUntilThen}
          </p>
        </div>
      );
    case "away":
      return (
        <p role="status" class="notice busy">
          {text.away(account.message)}
        </p>
      );
    default:
      return null;
  }
}
