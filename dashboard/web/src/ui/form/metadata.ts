/** Names of objects, as the API server takes them: RFC 1123 subdomains. */
import { z } from "zod";

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const expected = "expected lower-case letters, digits and dashes, with a letter or a digit at both ends";

/** The metadata of an object of a namespace that is to be created. */
export const newMetadata = (longest: number) =>
  z.object({
    name: z
      .string("expected a name")
      .regex(dnsName, expected)
      .max(longest, `expected at most ${longest} characters`),
    namespace: z.string("expected the namespace that it is to be in").regex(dnsName, expected).max(63),
  });
