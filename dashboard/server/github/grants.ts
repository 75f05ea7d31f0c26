/**
 * Who may make an Installation: whoever makes one has its token, so GitHub is asked whether they see what it is good for, and
 * may write where it may. A user could name somebody else's installation otherwise: its id is but a number.
 *
 * This is for what goes through the dashboard. Which Installations an App takes at all, whoever makes them, `spec.allowed` of
 * the App says.
 */
import { z } from "zod";
import { GitHubError } from "../../../bus/github/errors.ts";
import { Installation } from "../../../functions/ghapp/kinds.ts";
import type { Session } from "../auth/sessions.ts";
import type { Target } from "../kubernetes/allowlist.ts";
import { refusal } from "../refusal.ts";
import type { GitHubClient, SeenInstallation, SeenRepository } from "./client.ts";
import { notConnected, notSetUp } from "./troubles.ts";

/** Whether it is an Installation that is asked for. */
export const isInstallation = ({ group, resource }: Target): boolean =>
  group === Installation.group && resource === Installation.plural;

/** What is read of an Installation: as lenient as can be, because the API server looks at the rest. */
const granted = z.object({
  spec: z.object({
    installationID: z.int(),
    repositories: z.array(z.string()).nullish(),
    repositoryIDs: z.array(z.int()).nullish(),
    permissions: z.record(z.string(), z.string()).nullish(),
    apiPermissions: z.record(z.string(), z.string()).nullish(),
  }),
});

type Refusal = ReturnType<typeof refusal>;

/** Why somebody may not have the Installation; undefined when they may. Throws a `GitHubError` when GitHub does not say. */
export async function whyNot(
  github: GitHubClient | undefined,
  { github: user }: Pick<Session, "github">,
  object: unknown,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  if (github === undefined) return notSetUp;
  const read = granted.safeParse(object);
  if (!read.success)
    return refusal(
      "NotAllowed",
      "expected an Installation with an installationID, as its kind has it, found another object",
    );
  if (user === undefined) return notConnected;
  const { installationID, repositories, repositoryIDs, permissions, apiPermissions } = read.data.spec;
  const installations = await github.installations(user.token, signal);
  const installation = installations.find(({ id }) => id === installationID);
  if (installation === undefined) {
    return refusal(
      "NotYourInstallation",
      `expected an installation that ${user.login} sees at GitHub, found ${installationID}. Choose one of ${user.login}'s, or ask whoever owns it.`,
    );
  }
  if (!repositories?.length && !repositoryIDs?.length) return ofAll(installation, user.login);
  const seen = await seenIn(github, user.token, installation, signal);
  const wanted = [
    ...(repositories ?? []).map(
      (name) => [name, seen.find((one) => isCalled(one, installation, name))] as const,
    ),
    ...(repositoryIDs ?? []).map((id) => [id, seen.find((one) => one.id === id)] as const),
  ];
  const missing = wanted.filter(([, found]) => found === undefined).map(([named]) => named);
  if (missing.length > 0) {
    return refusal(
      "NotYourRepository",
      `expected repositories of ${installation.account} that ${user.login} sees at GitHub, found ${missing.join(", ")}`,
    );
  }
  const readOnly = wanted.filter(([, found]) => !found?.canPush).map(([named]) => named);
  const isReading = onlyReads(permissions ?? apiPermissions) && onlyReads(apiPermissions ?? permissions);
  return isReading || readOnly.length === 0
    ? undefined
    : refusal(
        "ReadOnlyRepository",
        `expected permissions that only read, or repositories that ${user.login} may write to, found ${readOnly.join(", ")}`,
      );
}

/** Without permissions a token has all that the App has. */
const onlyReads = (permissions: Readonly<Record<string, string>> | null | undefined): boolean => {
  const levels = Object.values(permissions ?? {});
  return levels.length > 0 && levels.every((level) => level === "read");
};

/** GitHub does not say whether a user sees all of an organization's repositories: more may come at any time. */
function ofAll({ account, accountType }: SeenInstallation, login: string): Refusal | undefined {
  if (accountType === "User" && account.toLowerCase() === login.toLowerCase()) return undefined;
  return refusal(
    "AllRepositories",
    `expected the names of repositories, found none, which stands for all of ${account}: name those that it is for`,
  );
}

async function seenIn(
  github: GitHubClient,
  token: string,
  { id }: SeenInstallation,
  signal: AbortSignal,
): Promise<readonly SeenRepository[]> {
  try {
    return await github.repositories(token, id, signal);
  } catch (error) {
    // It was there a moment ago.
    if (error instanceof GitHubError && error.status === 404) return [];
    throw error;
  }
}

/** GitHub's names ignore case. */
const isCalled = ({ fullName }: SeenRepository, { account }: SeenInstallation, name: string): boolean =>
  fullName.toLowerCase() === `${account}/${name}`.toLowerCase();
