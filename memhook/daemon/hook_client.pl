# The hook client of a warm prompt: hook_client.py for the case that the daemon answers, in a third of its time, because
# Perl starts in 2 ms where Python needs 10. It uses no module: `strict` alone would take another third.
#
#     perl hook_client.pl PYTHON -I -S -c CODE FOLDER [EVENT] [PART] [--client NAME]
#
# Its arguments are the command of the client in Python, and everything that is not an answer in time is left to that:
# no daemon, one that stops, a socket of another user. It always exits 0.

$version = '0.1.0';
$left = 1.5;             # seconds of hook_client.DEADLINE
$more_for_a_start = 3.5; # up to DEADLINE_WITH_START
$still_starting = "\xff\xff\xff\xff";
$retry = "\xff\xff\xff\xfe";

exit 0 if ($ENV{MEMHOOK_DISABLE} || '0') ne '0' || !defined fileno STDIN;
$SIG{$_} = sub { exit 0 } for qw(HUP INT TERM);
$SIG{ALRM} = \&give_up;
$SIG{PIPE} = 'IGNORE';
alarm 2; # for whatever blocks outside of select, whose time can be given in parts of a second
umask 077;

@given = @ARGV[6 .. $#ARGV];
for (grep { $given[$_] eq '--client' } reverse 0 .. $#given) { $client = (splice @given, $_, 2)[1] }
($event, $part) = @given;
$part = 1 if $part !~ /^\d+$/;
$is_patient = $event !~ /^(PreToolUse|PostToolUse|PostToolUseFailure|AfterTool|preToolUse|postToolUse)$/;

$base = $ENV{XDG_STATE_HOME} =~ m{^/} ? $ENV{XDG_STATE_HOME} : "$ENV{HOME}/.local/state";
$here = readlink('/proc/self/cwd') || $ENV{PWD};
$here = '' unless -d $here;
opendir HERE, '.';
hand_over() unless $base =~ m{^/.} && ($is_there = chdir "$base/memhook") && -O '.' && -w _ && -x _ && -S 'daemon.sock';

1 while wait_for(STDIN) && sysread STDIN, $body, 1 << 20, length $body;
exit 0 if $body !~ /\S/;

socket DAEMON, 1, 1, 0 or hand_over();
$address = $^O eq 'linux' ? pack 'S a108', 1, 'daemon.sock' : pack 'C C a104', 0, 1, 'daemon.sock';
connect DAEMON, $address or hand_over();
# SO_PEERCRED on Linux, LOCAL_PEERCRED on macOS: both have the user id in bytes 4 to 8.
$credentials = $^O eq 'linux' ? getsockopt DAEMON, 1, 17 : getsockopt DAEMON, 0, 1;
hand_over() if length $credentials < 8 || unpack('x4 L', $credentials) != $<;

@passed_on = map { "$_=$ENV{$_}" } grep { /^(COPILOT_CLI|CLAUDE_PROJECT_DIR|GEMINI_PROJECT_DIR|QWEN_PROJECT_DIR)$|^MEMHOOK_/ } keys %ENV;
push @passed_on, "MEMHOOK_CLIENT=$client" if $client ne '';
written(DAEMON, pack 'N/a* N/a*', join("\0", 1, $version, 'hook', $event, $part, $here, @passed_on), $body);

$size = received(4);
if ($size eq $still_starting && $is_patient) {
    $left += $more_for_a_start;
    alarm 4;
    $size = received(4);
    exit 0 unless length $size == 4; # it failed to start: another one would not be ready in time either
}
$answer = received(unpack 'N', $size) if length $size == 4 && $size lt $retry;
if (!defined $answer || length $answer != unpack 'N', $size) {
    exit 0 unless $is_patient;
    hand_over();
}
alarm 0; # neither the deadline nor a signal interrupts what is written
$SIG{$_} = 'IGNORE' for qw(HUP INT TERM);
syswrite DAEMON, "\x06" if written(STDOUT, $answer); # ACK: the memories count as shown
exit 0;

sub received {
    my ($wanted, $data) = ($_[0], '');
    1 while length $data < $wanted && wait_for(DAEMON) && sysread DAEMON, $data, $wanted - length $data, length $data;
    return $data;
}

sub wait_for {
    my ($bits, $found) = '';
    vec($bits, fileno $_[0], 1) = 1;
    do { ($found, $left) = select my $ready = $bits, undef, undef, $left } while $found < 0;
    give_up() unless $found;
    return 1;
}

sub written {
    my ($handle, $data) = @_;
    for (my $sent = 0; $sent < length $data;) { $sent += syswrite($handle, $data, 1 << 20, $sent) || return 0 }
    return 1;
}

sub give_up {
    $is_there && !-l 'memhook.log' && open LOG, '>>', 'memhook.log' and print LOG "hook client $$: hook gave up: no answer in time\n";
    exit 0;
}

# Become the client in Python, which finds on stdin what was read from there.
sub hand_over {
    alarm 0;
    $SIG{$_} = 'IGNORE' for qw(HUP INT TERM); # also after exec: Python cannot catch one while it starts
    if (length $body) {
        exit 0 unless pipe(READ, WRITE) && defined(my $child = fork);
        if (!$child) {
            close READ;
            $SIG{PIPE} = 'DEFAULT';
            written(WRITE, $body);
            exit 0;
        }
        close WRITE;
        open STDIN, '<&', READ;
    }
    chdir HERE;
    exec @ARGV;
    exit 0;
}
