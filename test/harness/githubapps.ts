/** Creates GitHub Apps through the dashboard and the simulated GitHub, as a user's browser would. */
import type { AppForm, NewApp } from "../../dashboard/api/githubapp.ts";
import type { Answer, Visitor } from "./visitor.ts";

/** Asks the dashboard for the form that a browser posts to GitHub. */
export const askForForm = (user: Visitor, app: NewApp): Promise<Answer> =>
  user.ask("/api/github/apps", { method: "POST", body: app });

/** Starts an App. Throws if the dashboard refuses it. */
export async function startApp(user: Visitor, app: NewApp): Promise<AppForm> {
  const answer = await askForForm(user, app);
  if (answer.status !== 200) throw new Error(`the App was refused with ${answer.status}: ${answer.text}`);
  return answer.json<AppForm>();
}

/** Confirms the App at GitHub as its owner. Resolves with the path to which GitHub redirects. */
export async function confirmApp({ action, manifest }: AppForm, owner: string): Promise<string> {
  const there = new URL(action);
  const shown = await fetch(there, { method: "POST", body: new URLSearchParams({ manifest }) });
  if (shown.status !== 200) throw new Error(`GitHub refused the manifest: ${await shown.text()}`);
  const { name } = JSON.parse(manifest) as { name: string };
  const state = there.searchParams.get("state") ?? "";
  const confirmed = await fetch(new URL("/settings/apps/created-from-manifest", there), {
    method: "POST",
    body: new URLSearchParams({ manifest, state, owner, name }),
    redirect: "manual",
  });
  if (confirmed.status !== 302) throw new Error(`GitHub did not create the App: ${await confirmed.text()}`);
  const { pathname, search } = new URL(confirmed.headers.get("location") ?? "");
  return pathname + search;
}
