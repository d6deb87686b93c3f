import { useCallback, useState } from "preact/hooks";
import { forgetToken, keepToken, readToken } from "../session.js";
import { Dashboard } from "./Dashboard.js";
import { SignIn } from "./SignIn.js";

/** The page: asks for the access token, and shows the dashboard while there is one that works. */
export function App() {
  const [token, setToken] = useState(readToken);
  const [reason, setReason] = useState<string>();
  const signIn = (given: string) => {
    keepToken(given);
    setReason(undefined);
    setToken(given);
  };
  const signOut = useCallback((why?: string) => {
    forgetToken();
    setReason(why);
    setToken(undefined);
  }, []);
  if (token === undefined) return <SignIn reason={reason} onToken={signIn} />;
  return <Dashboard token={token} onSignOut={signOut} />;
}
