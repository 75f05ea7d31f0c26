/** Users of the dashboard in tests. */
import type { Person } from "../../deploy/simulators/login/loginpage.ts";

/** The users of the issuer in every test. */
export const people = {
  alice: { name: "alice", password: "alice's password", groups: ["developers"] },
  bob: { name: "bob", password: "bob's password", groups: ["viewers"] },
  /** Has no role anywhere, and too many groups for the token to fit into a cookie. */
  carol: {
    name: "carol",
    password: "carol's password",
    groups: Array.from({ length: 200 }, (_, at) => `a-group-with-a-long-name-${at}`),
  },
} satisfies Record<string, Person>;
