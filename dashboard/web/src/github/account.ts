/** What GitHub shows whoever is logged in: asked by the server, in their name. */
import { useEffect, useState } from "preact/hooks";
import { type RequestError, request } from "../api/session.ts";

/** An installation of the GitHub App that the dashboard knows. */
export interface ShownInstallation {
  readonly id: number;
  /** Of whom. */
  readonly account: string;
  readonly repositorySelection: string;
  readonly htmlUrl: string;
}

/** A repository of an installation. */
export interface ShownRepository {
  readonly name: string;
  readonly owner: string;
  readonly private: boolean;
}

/** The answer to `GET /api/github/installations`. */
interface Connection {
  readonly connected: boolean;
  readonly login?: string;
  readonly installations?: readonly ShownInstallation[];
}

/** What is known of the account. */
export type Account =
  | { readonly state: "loading" | "apart" }
  /** This dashboard knows no GitHub, or GitHub does not answer. */
  | { readonly state: "none" | "away"; readonly message: string }
  | {
      readonly state: "connected";
      readonly login: string;
      readonly installations: readonly ShownInstallation[];
    };

/** Where somebody connects their account, to come back to this form. */
export const connectUrl = "/auth/github/login?to=/github/new";

/** Asks once whose account it is. */
export function useAccount(): Account {
  const [account, setAccount] = useState<Account>({ state: "loading" });
  useEffect(() => {
    const over = new AbortController();
    request<Connection>("/api/github/installations", { signal: over.signal }).then(
      ({ connected, login = "", installations = [] }) =>
        setAccount(connected ? { state: "connected", login, installations } : { state: "apart" }),
      (error: unknown) => {
        if (over.signal.aborted) return;
        const { status, message } = error as RequestError;
        setAccount({ state: status === 404 ? "none" : "away", message });
      },
    );
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
