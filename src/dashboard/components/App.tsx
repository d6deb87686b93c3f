import { useCallback, useEffect, useState } from "preact/hooks";
import { forgetToken, keepToken, readToken, takeTokenFromAddress } from "../session.js";
import { leaveSelection } from "../hooks/useSelection.js";
import { Dashboard } from "./Dashboard.js";
import { SignIn } from "./SignIn.js";

/** The page: the sign-in, or the dashboard while there is a valid token. */
export function App() {
  const [token, setToken] = useState(readToken);
  const [reason, setReason] = useState<string>();
  const signIn = (given: string) => {
    keepToken(given);
    setReason(undefined);
    setToken(given);
  };
  useEffect(() => {
    // A link with another token, opened in this tab, only changes the fragment.
    const read = () => setToken((known) => takeTokenFromAddress() ?? known);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const signOut = useCallback((why?: string) => {
    forgetToken();
    if (why === undefined) leaveSelection(); // the next token may be another store's; one that replaces an expired token hardly is
    setReason(why);
    setToken(undefined);
  }, []);
  if (token === undefined) return <SignIn reason={reason} onToken={signIn} />;
  return <Dashboard token={token} onSignOut={signOut} />;
}
