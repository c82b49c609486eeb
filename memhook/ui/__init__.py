"""The page in the browser, `memhook ui`: a thin door that parses, calls one operation of the daemon, and shows.

main       the options, and the start of the process
server     serves on loopback until Ctrl-C or an idle time
session    the secrets of one run: one-time token, cookie, CSRF token
guard      checks host, token, cookie and origin before anything else, and sets the security headers
app        the routes of the pages, and the page for errors
page       a page: the fields of its request, its context, and the changes made on it, which can be undone
rendering  the templates, and remembered text as data: escaped, hidden characters made visible; the exported page
lab        the page that tries a prompt
memories   the pages that list, show and change memories
inbox      the page that reviews captured memories and proposals one by one
health     the pages with the last hooks, the doctor's checks and the numbers
"""
