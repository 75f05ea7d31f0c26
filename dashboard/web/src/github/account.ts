/** The user's GitHub account. The server queries GitHub on the user's behalf. */
import { useEffect, useState } from "preact/hooks";
import type { ShownInstallation } from "../../../api/github.ts";
import { type RequestError, request } from "../api/session.ts";

/** A repository of an installation. */
export interface ShownRepository {
  readonly id: number;
  /** The name without the owner. */
  readonly name: string;
  readonly fullName: string;
  readonly private: boolean;
}

/** The response to `GET /api/github`. */
interface Connection {
  /** The GitHub that users can connect; null if none is configured. */
  readonly url: string | null;
  readonly login: string | null;
}

/** The state of the account. `none`: no GitHub is configured; `disconnected`: not connected. */
export type Account =
  | { readonly state: "loading" | "disconnected" | "none" }
  | { readonly state: "away"; readonly message: string }
  /** The user holds the key of the App, so GitHub is asked as the App, about its installation on the account of `owner`. */
  | { readonly state: "held"; readonly url: string; readonly owner: string }
  | {
      readonly state: "connected";
      /** Address of GitHub. */
      readonly url: string;
      readonly login: string;
      readonly installations: readonly ShownInstallation[];
    };

/** The address that connects the user's account and leads back to the form. */
export const connectAddress = (form: string): string =>
  `/auth/github/login?${new URLSearchParams({ to: form })}`;

async function ask(signal: AbortSignal): Promise<Account> {
  const { url, login } = await request<Connection>("/api/github", { signal });
  if (url === null) return { state: "none" };
  if (login === null) return { state: "disconnected" };
  const { installations } = await request<{ installations: readonly ShownInstallation[] }>(
    "/api/github/installations",
    { signal },
  );
  return { state: "connected", url, login, installations };
}

/** Loads the account once. */
export function useAccount(): Account {
  const [account, setAccount] = useState<Account>({ state: "loading" });
  useEffect(() => {
    const over = new AbortController();
    ask(over.signal).then(setAccount, (error: unknown) => {
      if (over.signal.aborted) return;
      const { reason, message } = error as RequestError;
      setAccount(reason === "GitHubNotConnected" ? { state: "disconnected" } : { state: "away", message });
    });
    return () => over.abort();
  }, []);
  return account;
}

/** The repositories of an installation: undefined while loading, an error message on failure. */
export function useRepositories(id: number | undefined): readonly ShownRepository[] | string | undefined {
  const [found, setFound] = useState<{ id: number; is: readonly ShownRepository[] | string }>();
  useEffect(() => {
    if (id === undefined) return;
    const over = new AbortController();
    request<{ repositories: readonly ShownRepository[] }>(`/api/github/installations/${id}/repositories`, {
      signal: over.signal,
    }).then(
      ({ repositories }) => setFound({ id, is: repositories }),
      (error: unknown) => {
        if (!over.signal.aborted) setFound({ id, is: (error as RequestError).message });
      },
    );
    return () => over.abort();
  }, [id]);
  return found?.id === id ? found?.is : undefined;
}
