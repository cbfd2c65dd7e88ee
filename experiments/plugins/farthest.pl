#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# farthest.py as a server without nysbench.serve, in a language without NumPy:
# command(run="perl experiments/plugins/farthest.pl", serve=true).
use strict;
use warnings;

# The rows of an array of float64 in C order, as nysbench writes it.
sub rows {
    my ($path, $n, $d) = @_;
    open my $in, '<:raw', $path or die "$path: $!\n";
    read($in, my $start, 10) == 10 or die "$path: is too short\n";
    seek $in, 10 + unpack('x8 v', $start), 0;
    return map { read $in, my $row, 8 * $d; [unpack 'd<*', $row] } 1 .. $n;
}

sub save {
    my ($path, @tokens) = @_;
    my $head = sprintf "%-117s\n", "{'descr': '<i8', 'fortran_order': False, 'shape': (" . @tokens . ',), }';
    open my $out, '>:raw', $path or die "$path: $!\n";
    print $out "\x93NUMPY\x01\x00", pack('v', length $head), $head, pack('q<*', @tokens);
    close $out or die "$path: $!\n";
}

sub farthest {
    my ($m, $token, @points) = @_;
    my (@picks, @distance);
    while (push(@picks, $token) < $m) {
        my ($last, $largest) = ($points[$token], -1);
        for my $i (0 .. $#points) {
            my ($point, $sum) = ($points[$i], 0);
            $sum += ($point->[$_] - $last->[$_])**2 for 0 .. $#$point;
            $distance[$i] = $sum if !defined $distance[$i] || $sum < $distance[$i];
        }
        $distance[$_] = -1 for @picks;
        for my $i (0 .. $#points) {
            ($token, $largest) = ($i, $distance[$i]) if $distance[$i] > $largest;
        }
    }
    return @picks;
}

$| = 1;    # each line at once
print qq({"ready": 1}\n);
while (my $request = <STDIN>) {
    my %of = $request =~ /"(\w+)":"?([^",}]*)/g;
    eval { save("$of{folder}/picks.npy", farthest($of{m}, $of{seed} % $of{n}, rows("$of{folder}/points.npy", $of{n}, $of{d}))) };
    warn $@ if $@;
    print $@ ? qq({"error": "cannot pick"}\n) : qq({"done": "picks"}\n);
}
