/** An App that GitHub has created, and whose keys are not stored yet. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { UnstoredApp } from "../../../api/githubapp.ts";
import { creating } from "../api/access.ts";
import { request } from "../api/session.ts";
import { ActionButton } from "../ui/actionbutton.tsx";
import { withLead } from "../ui/lead.ts";
import { OutLink } from "../ui/link.tsx";
import { notify, notifyOutcome } from "../ui/notices.tsx";
import { Countdown } from "./countdown.tsx";
import { secrets } from "./resources.ts";
import { newAppText, unstoredText as text } from "./text.ts";

/** Stores the keys, or discards them. */
export function UnstoredCard({ of: app, reload }: { of: UnstoredApp; reload: () => void }) {
  const { route } = useLocation();
  const [isBusy, setBusy] = useState(false);
  const { namespace, name, settings, endsAt } = app;

  async function store(): Promise<void> {
    setBusy(true);
    try {
      const { goTo } = await request<{ goTo: string }>("/api/github/apps/finish", {
        method: "POST",
        body: {},
      });
      route(goTo);
    } catch (error) {
      notify("bad", `${newAppText.outcomes.unstored} ${withLead(text.reason, error as Error)}`);
      reload();
    } finally {
      setBusy(false);
    }
  }
  async function discard(): Promise<void> {
    await notifyOutcome(request("/api/github/apps/unstored", { method: "DELETE" }), text.discarded);
    reload();
  }

  return (
    <section class="card" aria-labelledby="unstored">
      <h2 id="unstored">{text.title(name)}</h2>
      <p>{text.about(namespace)}</p>
      <p>
        {text.until} <Countdown to={endsAt} />.
      </p>
      {settings && (
        <p>
          <OutLink to={settings}>{text.settings}</OutLink>
        </p>
      )}
      <div class="actions">
        <ActionButton
          needs={creating(secrets, namespace)}
          class="primary"
          isBusy={isBusy}
          onClick={() => isBusy || void store()}
        >
          {text.store}
        </ActionButton>
        <button type="button" onClick={() => void discard()}>
          {text.discard}
        </button>
      </div>
    </section>
  );
}
