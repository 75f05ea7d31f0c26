/** What GitHub shows whoever is logged in: asked by the server, in their name. */
import { useEffect, useState } from "preact/hooks";
import { type RequestError, request } from "../api/session.ts";

/** An installation of the App that the dashboard is at GitHub. */
export interface ShownInstallation {
  readonly id: number;
  /** Of whom. */
  readonly account: string;
}

/** A repository of an installation. */
export interface ShownRepository {
  readonly id: number;
  /** Without the owner. */
  readonly name: string;
  readonly fullName: string;
  readonly private: boolean;
}

/** The answer to `GET /api/github`. */
interface Connection {
  /** Of the GitHub that can be connected; null where there is none. */
  readonly url: string | null;
  readonly login: string | null;
}

/** What is known of the account. `apart` is one that is not connected, or not any more. */
export type Account =
  | { readonly state: "loading" | "apart" | "none" }
  | { readonly state: "away"; readonly message: string }
  | {
      readonly state: "connected";
      /** Of the GitHub. */
      readonly url: string;
      readonly login: string;
      readonly installations: readonly ShownInstallation[];
    };

/** Where somebody connects their account, to come back to the form at that address of the page. */
export const connectAddress = (form: string): string =>
  `/auth/github/login?${new URLSearchParams({ to: form })}`;

async function ask(signal: AbortSignal): Promise<Account> {
  const { url, login } = await request<Connection>("/api/github", { signal });
  if (url === null) return { state: "none" };
  if (login === null) return { state: "apart" };
  const { installations } = await request<{ installations: readonly ShownInstallation[] }>(
    "/api/github/installations",
    { signal },
  );
  return { state: "connected", url, login, installations };
}

/** Asks once whose account it is. */
export function useAccount(): Account {
  const [account, setAccount] = useState<Account>({ state: "loading" });
  useEffect(() => {
    const over = new AbortController();
    ask(over.signal).then(setAccount, (error: unknown) => {
      if (over.signal.aborted) return;
      const { reason, message } = error as RequestError;
      setAccount(reason === "GitHubNotConnected" ? { state: "apart" } : { state: "away", message });
    });
    return () => over.abort();
  }, []);
  return account;
}

/** The repositories of an installation: undefined until they are known, a sentence where they can not be had. */
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
