sort "$2" | uniq -c > counts.txt && echo TERMINATED counts.txt
